import com.yahoo.labs.samoa.instances.Instance;
import moa.streams.MultiTargetArffFileStream;
import weka.core.Instances;
import weka.core.converters.ConverterUtils.DataSource;

/** Prints what MOA, WEKA and MEKA read: a line of names, then the values of each row. */
public class ReadArff {
    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < arguments.length; i += 2) {
            System.out.println("# " + arguments[i]);
            if (arguments[i].equals("moa")) readByMoa(arguments[i + 1], arguments[arguments.length - 1]);
            else if (arguments[i].equals("meka")) readByMeka(arguments[i + 1]);
        }
    }

    static void readByMoa(String path, String targets) {
        MultiTargetArffFileStream stream = new MultiTargetArffFileStream(path, targets);
        stream.prepareForUse();
        while (stream.hasMoreInstances()) {
            Instance row = stream.nextInstance().getData();
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < row.numOutputAttributes(); i++) line.append(row.valueOutputAttribute(i)).append('\t');
            for (int i = 0; i < row.numInputAttributes(); i++) line.append(row.valueInputAttribute(i)).append('\t');
            System.out.println(line);
        }
    }

    static void readByMeka(String path) throws Exception {
        Instances rows = DataSource.read(path);
        meka.core.MLUtils.prepareData(rows);
        System.out.println(rows.classIndex());
        StringBuilder names = new StringBuilder();
        for (int i = 0; i < rows.numAttributes(); i++) names.append(rows.attribute(i).name()).append('\t');
        System.out.println(names);
        for (weka.core.Instance row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < row.numAttributes(); i++) line.append(row.value(i)).append('\t');
            System.out.println(line);
        }
    }
}
